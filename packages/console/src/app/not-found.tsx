import { Link } from '@tanstack/react-router'
import { PageHead, Verdict } from '../components/show/page.tsx'

export function NotFound() {
  return (
    <PageHead title="No such page">
      <Verdict>
        The console has no page at this address. The search above takes ids, keys and text of errors;{' '}
        <Link to="/">Now</Link> shows what burns.
      </Verdict>
    </PageHead>
  )
}
