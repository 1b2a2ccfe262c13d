import { createDlqClient, dataOf } from 'dlq-client/api-client'
import { eachMessage } from 'dlq-client/each'

const dlq = createDlqClient({ baseUrl: 'https://dlq.example.com', token: async () => process.env.DLQ_TOKEN ?? '' })

// Reads the next page when the loop needs it.
for await (const message of eachMessage(dlq, { topic: 'orders', status: ['DEAD'], error_class: 'TimeoutError' })) {
  const path = { id: message.id }
  const { data, error } = await dlq.POST('/api/v1/dlq/messages/{id}/revive', {
    params: { path },
    body: { reason: 'the card network is back' },
  })
  console.log(data ? `${data.id} is ${data.status}` : error.error.message)
}

// dataOf throws a DlqApiError with the API's code, message, details and request id, and how long to wait.
const { counts } = await dataOf(dlq.GET('/api/v1/status'))
console.log(`${counts.DEAD} are left`)
