// The sheet over a page that may not be read without signing in. The page beneath stays as it is.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Form } from 'react-aria-components'
import { Button, buttonClass } from '../components/controls/button.tsx'
import { Dialog, DialogActions } from '../components/controls/dialog.tsx'
import { TextField } from '../components/controls/text-field.tsx'
import { Notice } from '../components/show/page.tsx'
import { keepPlace, signInPath } from '../data/drafts/kept-place.ts'
import { faultOf } from '../data/faults.ts'
import { configQuery, signIn } from '../data/session.ts'

/** Why the provider has signed nobody in, as the API has it in the address. */
const refusals: Readonly<Record<string, string>> = {
  expired: 'Signing in took too long, or began in another browser. Begin again.',
  refused: 'The provider did not sign you in.',
  'no-role': 'The provider knows you, and you have no role here. Ask whoever runs this installation.',
  'too-many-topics':
    'The provider names too many topics for a session. Ask whoever runs this installation to have it name them by globs.',
  provider: 'The provider does not answer, or its answer cannot be used. The log of the API says why.',
}

export function SignIn() {
  const client = useQueryClient()
  const { data: config } = useQuery(configQuery)
  const [token, setToken] = useState('')
  const [fault, setFault] = useState<string | null>(null)
  const ways = config?.sign_in ?? ['token']
  const refusal = refusals[new URLSearchParams(location.search).get('error') ?? '']

  // What was read without rights is asked again; a change that was refused is not repeated by itself.
  useEffect(() => () => void client.invalidateQueries(), [client])

  const submit = async () => {
    try {
      await signIn(token.trim())
    } catch (error) {
      const { status, message } = faultOf(error)
      setFault(status === 401 ? 'This token is not known, or it has expired.' : message)
    }
  }

  return (
    <Dialog title="Sign in" onClose={() => undefined} must>
      {location.pathname !== signInPath || refusal === undefined ? null : (
        <Notice>
          <span role="alert">{refusal}</span>
        </Notice>
      )}
      {ways.length > 0 ? null : (
        <>
          <p>
            The API asks nobody to sign in here, so something between it and this page does. A reload leads there; what
            is typed on this page is lost by it.
          </p>
          <DialogActions>
            <Button look="primary" onPress={() => location.reload()}>
              Reload
            </Button>
          </DialogActions>
        </>
      )}
      {ways.includes('oidc') ? (
        <a
          className={buttonClass('primary')}
          href={`login?return=${encodeURIComponent(signInPath)}`}
          onClick={keepPlace}
        >
          Sign in with your provider
        </a>
      ) : null}
      {ways.includes('token') ? (
        <Form
          onSubmit={(event) => {
            event.preventDefault()
            void submit()
          }}
        >
          <TextField
            label="Token"
            type="password"
            autoComplete="current-password"
            value={token}
            onChange={setToken}
            fault={fault}
            autoFocus
            note="The page exchanges it for a session of this browser, and does not keep it."
          />
          <DialogActions>
            <Button type="submit" look="primary">
              Sign in
            </Button>
          </DialogActions>
        </Form>
      ) : null}
    </Dialog>
  )
}
