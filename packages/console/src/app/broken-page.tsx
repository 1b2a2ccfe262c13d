// A page with a fault, or before an API of another version whose answer it cannot show. What surrounds it goes on.

import type { ErrorComponentProps } from '@tanstack/react-router'
import { Button } from '../components/controls/button.tsx'
import { FaultText } from '../components/show/fault.tsx'
import { ActionBar, PageHead, Verdict } from '../components/show/page.tsx'

export function BrokenPage({ error }: ErrorComponentProps) {
  const message = error instanceof Error ? error.message : String(error)
  return (
    <PageHead title="This page cannot be shown">
      <Verdict>The console has a fault here, or the API is of another version. The other pages go on.</Verdict>
      <FaultText fault={{ message, requestId: null, details: [] }} what="What the browser says" />
      <ActionBar label="What to do about it">
        <Button look="primary" onPress={() => window.location.reload()}>
          Reload
        </Button>
      </ActionBar>
    </PageHead>
  )
}
