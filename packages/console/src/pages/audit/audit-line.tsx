// One entry of the audit.

import { Link } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { Button } from '../../components/controls/button.tsx'
import { Time } from '../../components/show/time.tsx'
import { copyText } from '../../components/toasts.tsx'
import { TicketText } from '../../components/tool-links.tsx'
import type { AuditEntry } from '../../data/queries/audit.ts'
import { actionWords, targetName } from '../../domain/audit/audit-words.ts'
import { isChanged } from '../../domain/audit/read-audit.ts'
import styles from './audit.module.css'

/** `groupTitle`: where the entry is about an error group whose title is known. */
type Props = { entry: AuditEntry; groupTitle: string | null; open: boolean; onToggle: () => void }

export function AuditLine({ entry, groupTitle, open, onToggle }: Props) {
  const { id, at, actor, action, target_type, target_id, reason, dlq_topic, original_topic } = entry
  const topic = original_topic ?? dlq_topic
  return (
    <li className={styles.entry} data-open={open}>
      <div className={styles.line}>
        <button
          type="button"
          className={styles.toggle}
          aria-expanded={open}
          aria-controls={`entry-${id}`}
          aria-label={`What changed: ${actor} ${actionWords(action)} ${targetName(target_type, target_id, groupTitle)}`}
          onClick={onToggle}
          data-row
        >
          <ChevronRight aria-hidden="true" />
        </button>
        <span className={styles.when}>
          <Time at={at} />
        </span>
        <span className={styles.what}>
          <strong>{actor}</strong> {actionWords(action)} <Target entry={entry} groupTitle={groupTitle} />
          {topic === null || target_type === 'topic' ? null : <span className={styles.quiet}> · {topic}</span>}
          {reason === null ? null : (
            <span className={styles.reason}>
              <TicketText text={reason} />
            </span>
          )}
        </span>
      </div>
      {open ? (
        <div id={`entry-${id}`} className={styles.detail}>
          <Changes entry={entry} />
          <p className={styles.foot}>
            <span>
              {target_type} <code>{target_id}</code>
            </span>
            {entry.request_id === null ? null : (
              <span>
                request <code>{entry.request_id}</code>{' '}
                <Button look="quiet" onPress={() => void copyText(entry.request_id!, 'the id of the request')}>
                  Copy
                </Button>
              </span>
            )}
            <Link to="/audit" search={{ target_type, target_id }}>
              All changes of this {target_type}
            </Link>
          </p>
        </div>
      ) : null}
    </li>
  )
}

function Target({ entry, groupTitle }: Pick<Props, 'entry' | 'groupTitle'>) {
  const { action, target_type: type, target_id: id } = entry
  const name = targetName(type, id, groupTitle)
  if (type === 'message')
    return (
      <Link to="/messages/$id" params={{ id }} search={{}} title={id}>
        {name}
      </Link>
    )
  if (type === 'group')
    return (
      <Link to="/groups/$id" params={{ id }} title={id}>
        <bdi>{name}</bdi>
      </Link>
    )
  if (type === 'run')
    return (
      <Link to="/runs/$id" params={{ id }} search={{}} title={id}>
        {name}
      </Link>
    )
  // What nobody ingests has no page.
  if (type === 'topic' && id !== '*' && !action.startsWith('candidate.'))
    return (
      <Link to="/topics/$topic" params={{ topic: id }} search={{}}>
        {name}
      </Link>
    )
  if (type === 'policy')
    return (
      <Link to="/policies/$pattern" params={{ pattern: id }}>
        {name}
      </Link>
    )
  if (type === 'cron')
    return (
      <Link to="/system/cron/$job" params={{ job: id }}>
        {name}
      </Link>
    )
  return <span>{id === '*' ? 'all topics' : name}</span>
}

function Changes({ entry: { fields } }: { entry: AuditEntry }) {
  const changed = fields.filter(isChanged)
  const same = fields.length - changed.length
  if (fields.length === 0) return <p className={styles.quiet}>No fields are kept for this.</p>
  return (
    <>
      <dl className={styles.fields}>
        {changed.map(({ name, before, after }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {before === null ? null : (
                <del>
                  <code>{before}</code>
                </del>
              )}
              {after === null ? null : (
                <ins>
                  <code>{after}</code>
                </ins>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {same === 0 ? null : (
        <p className={styles.quiet}>{same === 1 ? 'One other field is' : `${same} other fields are`} as before.</p>
      )}
    </>
  )
}
