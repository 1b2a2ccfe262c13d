// Where the browser comes back from the provider, and a link to signing in. The sheet over it asks; it leads on.

import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { PageHead } from '../../components/show/page.tsx'
import { signInNeeded } from '../../data/api.ts'
import { wantedPlace } from '../../data/drafts/kept-place.ts'
import { meQuery } from '../../data/session.ts'
import { useStore } from '../../data/store.ts'

export function SignInPage() {
  const router = useRouter()
  const isSignedIn = useQuery(meQuery).data !== undefined
  const isNeeded = useStore(signInNeeded)
  useEffect(() => {
    if (isSignedIn && !isNeeded) router.history.replace(wantedPlace())
  }, [isSignedIn, isNeeded, router])
  return <PageHead title="Sign in" />
}
