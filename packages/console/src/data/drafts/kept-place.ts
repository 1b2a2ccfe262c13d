// Where somebody was when they had to sign in. While they are at the provider, the place is kept in this tab: it may hold
// values behind its `#`, which do not belong into logs, and be longer than the cookie that the API would keep it in.

const keptAt = 'dlq-console.place'
const home = new URL(document.baseURI).pathname

/** The page of its own, where the browser comes back to. */
export const signInPath = `${home}sign-in`

const kept = takeKept()

/** Where it goes on once somebody is signed in: here, or from the page of its own where they were before. */
export function wantedPlace(): string {
  const { pathname, search, hash } = window.location
  if (pathname !== signInPath) return `${pathname}${search}${hash}`
  return kept ?? ownPlace(new URLSearchParams(search).get('return')) ?? home
}

export function keepPlace(): void {
  try {
    sessionStorage.setItem(keptAt, wantedPlace())
  } catch {
    // Without storage, it goes on at the first page.
  }
}

function takeKept(): string | null {
  try {
    const place = sessionStorage.getItem(keptAt)
    sessionStorage.removeItem(keptAt)
    return place
  } catch {
    return null
  }
}

/** Null where it is no page of the console: a link may not lead elsewhere. */
function ownPlace(asked: string | null): string | null {
  const { origin } = window.location
  if (asked === null || !URL.canParse(asked, origin)) return null
  const url = new URL(asked, origin)
  const isOwn = url.origin === origin && url.pathname.startsWith(home) && url.pathname !== signInPath
  return isOwn ? `${url.pathname}${url.search}${url.hash}` : null
}
