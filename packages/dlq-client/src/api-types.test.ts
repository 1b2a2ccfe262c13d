import { openApiDocument } from 'api/src/http/open-api.ts'
import { allRoutes } from 'api/src/routes/all-routes.ts'
import openapiTS, { astToString } from 'openapi-typescript'
import { expect, test } from 'vitest'

test('the types are those of the API as it is', async () => {
  // As JSON, as programs read /openapi.json; without its examples, which would be half of the types.
  const document = JSON.stringify(openApiDocument(allRoutes, { version: '0' }), (key, value) =>
    key === 'example' || key === 'examples' ? undefined : value,
  )
  const types = astToString(await openapiTS(document, { defaultNonNullable: false }))
  // After a change of the API: npx vitest run api-types -u
  await expect(`// Made from /openapi.json by api-types.test.ts.\n\n${types}`).toMatchFileSnapshot('api-types.ts')
})
