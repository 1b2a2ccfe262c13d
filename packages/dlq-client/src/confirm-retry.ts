// A consumer that has done the work of a retry may say so: the attempt's verdict is then `confirmed`, which no reading
// of offsets can tell. Always optional.

import { type DlqClient, dataOf } from './api-client.ts'
import type { KafkaHeaders } from './dead-letter.ts'
import { headerText } from './for-group.ts'

/**
 * Call it after the work. Returns false, and asks nothing, where the record is no retry of dlq-manager.
 *
 * @throws {DlqApiError} where the API refuses; the work is done all the same, so most consumers log it and go on
 */
export async function confirmRetry(
  client: DlqClient,
  { message }: { message: { headers?: KafkaHeaders | undefined } },
): Promise<boolean> {
  const [attemptId, messageId, attempt] = ['dlq-attempt-id', 'dlq-message-id', 'dlq-attempt'].map((name) =>
    headerText(message.headers, name),
  )
  if (!attemptId || !messageId || !attempt) return false
  await dataOf(
    client.POST('/api/v1/attempts/{attempt_id}/confirm', {
      params: { path: { attempt_id: attemptId } },
      body: { message_id: messageId, attempt: Number(attempt) },
    }),
  )
  return true
}
