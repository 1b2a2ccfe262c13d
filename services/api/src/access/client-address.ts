// From which address a request comes, also where proxies stand between.

import { BlockList, isIP } from 'node:net'

/** `remote` is the other end of the connection, `forwardedFor` the header X-Forwarded-For. */
export type ClientAddress = (asked: { remote: string; forwardedFor: string | undefined }) => string

/**
 * Each proxy appends the address that it was asked from. So the list is believed from its end, as far as trusted
 * proxies have written it; what stands before may be anybody's invention.
 *
 * @param trustedProxies addresses, and networks such as `10.0.0.0/8`
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = new BlockList()
  for (const proxy of trustedProxies) {
    const [address, bits] = proxy.split('/') as [string, string | undefined]
    if (bits === undefined) trusted.addAddress(address, familyOf(address))
    else trusted.addSubnet(address, Number(bits), familyOf(address))
  }
  const isTrusted = (address: string) => isIP(address) !== 0 && trusted.check(address, familyOf(address))
  return ({ remote, forwardedFor }) => {
    const hops = (forwardedFor ?? '').split(',').map((hop) => hop.trim())
    let client = plainAddress(remote)
    while (isTrusted(client)) {
      const before = plainAddress(hops.pop() ?? '')
      if (isIP(before) === 0) break
      client = before
    }
    return client
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

/** Without what some proxies write around it: `[2001:db8::1]:443`, `10.0.0.1:443`, and IPv4 in the form of IPv6. */
function plainAddress(text: string): string {
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(text) ?? []
  const [, withoutPort] = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text) ?? []
  const address = bracketed ?? withoutPort ?? text
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address
}
