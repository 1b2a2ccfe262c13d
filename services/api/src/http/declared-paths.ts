// Asks Hono's router which declared paths match: for the answer 405, for the label of metrics, and
// for tests over all routes.

import type { Context, Hono } from 'hono'
import { matchedRoutes } from 'hono/route'
import { type ApiEnv, methods } from './define-route.ts'

/** The path under which Hono keeps middleware for every request. */
const everyPath = '/*'

/** The declared paths that match a request, in the order of their declaration; Hono takes the first. */
export function declaredPaths(app: Hono<ApiEnv>, method: string, path: string): string[] {
  const [matches] = app.router.match(method.toUpperCase(), path)
  return matches.map(([[, route]]) => route.path).filter((declared) => declared !== everyPath)
}

/** The declared path that answers the request; "/*" where there is none. */
export function routeLabel(c: Context): string {
  return matchedRoutes(c).find(({ path }) => path !== everyPath)?.path ?? everyPath
}

/**
 * The methods of a path, for the header Allow. Where several declared paths match, those with the fewest
 * parameters count: /runs/preview is not /runs/:id.
 */
export function allowedMethods(app: Hono<ApiEnv>, path: string): string[] {
  const matching = methods.flatMap((method) =>
    declaredPaths(app, method, path).map((declared) => ({ method, parameters: parametersIn(declared) })),
  )
  const fewest = Math.min(...matching.map(({ parameters }) => parameters))
  const allowed = new Set(matching.filter(({ parameters }) => parameters === fewest).map(({ method }) => method))
  return [...allowed].flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
}

function parametersIn(path: string): number {
  return path.match(/:/g)?.length ?? 0
}
