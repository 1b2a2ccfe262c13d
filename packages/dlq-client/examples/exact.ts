import { createDlqClient, dataOf } from 'dlq-client/api-client'
import { exactJson } from 'dlq-client/exact-json'

const exact = createDlqClient({ baseUrl: 'https://dlq.example.com', json: exactJson })
const path = { id: '0198c1d2-7e4f-7a60-8b1c-2d3e4f506172' }
const { payload } = await dataOf(exact.GET('/api/v1/dlq/messages/{id}', { params: { path } }))
console.log(exactJson.stringify(payload)) // {"total":12345678901234567890.12}
