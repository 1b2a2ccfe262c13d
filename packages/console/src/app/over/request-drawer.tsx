// The page's requests: what the console asks can be asked by anybody, and is copied as it was sent.

import { useState } from 'react'
import { Button } from '../../components/controls/button.tsx'
import { Checkbox } from '../../components/controls/checkbox.tsx'
import { Dialog } from '../../components/controls/dialog.tsx'
import { copyText } from '../../components/toasts.tsx'
import { type LoggedRequest, requestLog } from '../../data/api.ts'
import { useStore } from '../../data/store.ts'
import { curlOf } from '../../domain/commands/curl.ts'
import styles from './over.module.css'

export function RequestDrawer({ onClose }: { onClose: () => void }) {
  const log = useStore(requestLog)
  // The list stands still while somebody reads it.
  const [still, setStill] = useState<readonly LoggedRequest[]>(log)
  const [changesOnly, setChangesOnly] = useState(false)
  const shown = still.filter(({ method }) => !changesOnly || method !== 'GET')
  const more = log.filter(({ id }) => id > (still[0]?.id ?? 0)).length
  return (
    <Dialog title="Requests" onClose={onClose} side>
      <p className={styles.quiet}>
        What this tab has asked the API, the newest first. <code>$API</code> is the address of the API,{' '}
        <code>$TOKEN</code> a token of yours; the session is never copied.
      </p>
      <div className={styles.bar}>
        <Checkbox checked={changesOnly} onChange={setChangesOnly}>
          Only changes
        </Checkbox>
        <Button isDisabled={more === 0} onPress={() => setStill(log)}>
          {more === 0 ? 'Nothing new' : `Show ${more} new`}
        </Button>
      </div>
      {shown.length === 0 ? <p className={styles.quiet}>None yet.</p> : null}
      <ol className={styles.requests}>
        {shown.map((request) => (
          <li key={request.id}>
            <span className={styles.method}>{request.method}</span>
            <code className={styles.path}>{request.path}</code>
            <span
              className={styles.status}
              data-bad={request.status !== null && (request.status === 0 || request.status >= 400)}
            >
              {request.status === null ? 'under way' : request.status === 0 ? 'no answer' : request.status}
              {request.ms === null ? '' : ` · ${request.ms} ms`}
            </span>
            <Button
              look="quiet"
              label={`Copy ${request.method} ${request.path} as curl`}
              onPress={() => void copyText(curlOf(request), 'a curl command')}
            >
              Copy
            </Button>
            {request.body ? <pre className={styles.body}>{request.body}</pre> : null}
          </li>
        ))}
      </ol>
    </Dialog>
  )
}
