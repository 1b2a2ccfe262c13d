// Where the record lies in Kafka, and the policy that decides about it, with where each setting comes from.

import type { ReactNode } from 'react'
import { Button } from '../../components/controls/button.tsx'
import { DirectedText } from '../../components/show/directed-text.tsx'
import { Time } from '../../components/show/time.tsx'
import { copyText } from '../../components/toasts.tsx'
import type { MessageDetail } from '../../data/queries/messages.ts'
import { bytesText } from '../../domain/words.ts'
import styles from './message-page.module.css'

export function WhereFacts({ message }: { message: MessageDetail }) {
  const { dlq, original } = message
  const kcat =
    original.partition === null || original.offset === null
      ? null
      : `kcat -C -b "$BROKERS" -t '${original.topic}' -p ${original.partition} -o ${original.offset} -c 1`
  return (
    <>
      <dl className={styles.facts}>
        <Fact name="Original record">
          <DirectedText text={original.topic} /> {original.partition ?? '?'}/{original.offset ?? '?'}
          {original.topic_source === 'guessed' ? ' (topic guessed from the name)' : ''}
        </Fact>
        <Fact name="Original time">
          <Time at={original.timestamp} long />
        </Fact>
        <Fact name="Dead letter">
          {dlq === null
            ? 'reported by SQL or HTTP, not read from Kafka'
            : `${dlq.topic} ${dlq.partition ?? '?'}/${dlq.offset ?? '?'}`}
        </Fact>
        <Fact name="Cluster">{dlq?.cluster ?? '–'}</Fact>
        <Fact name="Sent to instead">{message.target_topic ?? 'no other topic'}</Fact>
        <Fact name="Size of the value">
          {message.value_bytes === null ? 'no value' : bytesText(message.value_bytes)}
        </Fact>
        <Fact name="Id">
          <code>{message.id}</code>
        </Fact>
      </dl>
      {kcat === null ? null : (
        <p>
          <code>
            <DirectedText text={kcat} />
          </code>{' '}
          <Button look="quiet" onPress={() => void copyText(kcat, 'the command')}>
            Copy
          </Button>
        </p>
      )}
    </>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

export function PolicyFacts({ policy }: { policy: MessageDetail['policy'] }) {
  return (
    <dl className={styles.facts}>
      {Object.entries(policy).map(([setting, { value, source, pattern }]) => (
        <Fact key={setting} name={setting}>
          {value === null ? 'not set' : Array.isArray(value) ? value.join(', ') : String(value)}
          <span className={styles.quiet}>
            {' '}
            {source === 'default'
              ? 'by default'
              : source === 'config'
                ? 'by configuration'
                : `by the policy ${pattern}`}
          </span>
        </Fact>
      ))}
    </dl>
  )
}
