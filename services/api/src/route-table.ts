// Which declared route a path means, apart from Hono: for what has to be known before, or after, Hono has chosen.

import type { Route } from './define-route.ts'

export function findRoute(routes: readonly Route[], method: string, path: string): Route | undefined {
  return routes.find((route) => route.method === method.toLowerCase() && patternOf(route).test(path))
}

/** The methods that a path knows, as an Allow header says them: of the path as it stands, before one with parameters. */
export function methodsAt(routes: readonly Route[], path: string): string[] {
  const matching = routes.filter((route) => patternOf(route).test(path))
  const fewest = Math.min(...matching.map(parametersIn))
  const methods = matching.filter((route) => parametersIn(route) === fewest).map(({ method }) => method.toUpperCase())
  return [...new Set(methods)].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
}

const patterns = new WeakMap<Route, RegExp>()

function patternOf(route: Route): RegExp {
  const known = patterns.get(route)
  if (known) return known
  const pattern = new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`)
  patterns.set(route, pattern)
  return pattern
}

function parametersIn({ path }: Route): number {
  return path.match(/:/g)?.length ?? 0
}
