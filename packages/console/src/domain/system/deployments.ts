// Several deployments, each with a console of its own. A switch between them keeps the section, and nothing else: an id
// of the one means nothing in the other.

export type Deployment = { name: string; url: string }

/** The deployment whose console has this address; null where none of them has. */
export function deploymentAt(deployments: readonly Deployment[], address: string): Deployment | null {
  return deployments.find(({ url }) => address.startsWith(consoleOf(url))) ?? null
}

/** The address of the same section in another deployment's console. `path` is that of the page, as `/groups/550e8400`. */
export function sectionIn({ url }: Deployment, path: string): string {
  return `${consoleOf(url)}${path.split('/')[1] ?? ''}`
}

function consoleOf(url: string): string {
  return `${url.replace(/\/+$/, '')}/console/`
}
