// Has a schema asked for again: a registry that was set up anew gives old ids new meanings.

import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import { recheckSchema } from 'dlq-core/queries/schemas/schemas.ts'
import * as v from 'valibot'
import { ApiError } from '../../http/api-error.ts'
import { defineRoute } from '../../http/define-route.ts'
import { reason, wholeNumberInPath } from '../../request/request-schemas.ts'

const schemaJson = v.pipe(
  v.strictObject({
    number: v.pipe(v.number(), v.description('The row of dlq_schemas.')),
    registry: v.string(),
    id_kind: v.string(),
    id: v.string(),
    state: v.pipe(v.picklist(['wanted', 'known', 'missing', 'refused']), v.description('As it is until the answer.')),
    name: v.pipe(v.nullable(v.string()), v.description('The name of the type.')),
  }),
  v.title('RegistrySchema'),
)

export const schemaRefreshRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/api/v1/schemas/:number/refresh',
      summary: 'Ask a registry for a schema again',
      description: [
        'By `decoding.schema.number` of a message. An ingester or retrier asks within a second; where the id has another',
        'meaning now, values are read with that from then on, and those that were stored decoded keep their payload. A',
        'schema that the registry does not have any more stays as it is. Where values do not fit a schema, this happens by',
        'itself, once a day at most.',
      ].join(' '),
      role: 'admin',
      masks: 'none',
      allTopics: true,
      params: v.object({ number: wholeNumberInPath('schema') }),
      body: v.optional(v.strictObject({ reason }), {}),
      bodyExample: { reason: 'the registry was set up anew' },
      answers: {
        202: {
          description: 'It will be asked for.',
          schema: v.strictObject({ schema: schemaJson }),
          example: {
            schema: {
              ...{ number: 3, registry: 'main', id_kind: 'id', id: '18' },
              ...{ state: 'known' as const, name: 'com.example.Order' },
            },
          },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, by, params: { number }, body }) => {
      const { registry, id_kind, schema_id, state, name } = await sql.begin(async (sql) => {
        const row = await recheckSchema(sql, number)
        if (row === null) throw new ApiError('SYS_DLQ_NOT_FOUND', `there is no schema ${number}`)
        const target = { target_type: 'schema', target_id: String(number) }
        await writeAudit(sql, { ...by, action: 'schema.refresh', ...target, reason: body.reason ?? null })
        return row
      })
      return c.json({ schema: { number, registry, id_kind, id: schema_id, state, name } }, 202)
    },
  ),
]
