// A part of the console that is loaded when it is shown. Where it does not come, its place says so, and it is tried again.
// The page is reloaded only once the server has answered: before, a reload would leave nothing of it.

import { type ComponentType, useCallback, useEffect, useState } from 'react'
import { lastAnswerAt } from '../data/api.ts'
import { loadPart, type PartFault } from '../data/parts.ts'
import { Button } from './controls/button.tsx'
import { Notice, PageHead } from './show/page.tsx'

/** `quiet`: nobody has asked for it, so its place stays empty until it comes. */
type Kind = 'page' | 'part' | 'quiet'

/** A dialog has `onClose`: who has stopped waiting for it is not surprised by it later. */
type Closable = { onClose?: () => void }

export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>, kind: Kind = 'part') {
  let Loaded: ComponentType<Props> | null = null
  let loading: Promise<PartFault | null> | null = null
  // Chromium remembers that a module did not come: only a reload asks for it again.
  let wasAway = false
  const bring = () => {
    loading ??= loadPart(load).then((outcome) => {
      loading = null
      if ('fault' in outcome) {
        wasAway ||= outcome.fault === 'away'
        return outcome.fault
      }
      Loaded = outcome.part
      return null
    })
    return loading
  }

  function Part(props: Props & Closable) {
    const [, setCame] = useState(Loaded !== null)
    const [fault, setFault] = useState<PartFault | null>(null)
    const begin = useCallback(async () => {
      const fault = await bring()
      const needsReload = fault === 'newer' || (fault === 'broken' && wasAway)
      if (needsReload && !isEditing()) return location.reload()
      setFault(fault)
      setCame(fault === null)
    }, [])
    useEffect(() => {
      if (Loaded === null) void begin()
    }, [begin])
    const waits = fault === 'away' && props.onClose === undefined
    useEffect(() => (waits ? lastAnswerAt.subscribe(() => void begin()) : undefined), [waits, begin])
    if (Loaded !== null) return <Loaded {...props} />
    if (fault === null || kind === 'quiet') return null
    const why = <WhyMissing fault={fault} kind={kind} onTry={() => void begin()} onClose={props.onClose} />
    return kind === 'page' ? <PageHead title="This page is not there yet">{why}</PageHead> : why
  }
  return Object.assign(Part, {
    /** For the router, before the page is shown. */
    preload: async () => {
      await bring()
    },
  })
}

type WhyProps = { fault: PartFault; kind: Kind; onTry: () => void; onClose: (() => void) | undefined }

function WhyMissing({ fault, kind, onTry, onClose }: WhyProps) {
  const what = kind === 'page' ? 'This page' : 'This part of the console'
  const words = {
    away: `${what} cannot be loaded while the API does not answer.`,
    newer: `${what} is gone: a newer console is there. Save what you have typed before you reload.`,
    broken: `${what} cannot be loaded without a reload. Save what you have typed before it.`,
  }
  return (
    <Notice>
      <span role="alert">{words[fault]}</span>
      {fault === 'away' ? (
        <Button onPress={onTry}>Try again</Button>
      ) : (
        <Button onPress={() => location.reload()}>Reload</Button>
      )}
      {onClose === undefined ? null : <Button onPress={onClose}>Leave it</Button>}
    </Notice>
  )
}

/** What is typed is not lost by a reload that nobody asked for. */
function isEditing(): boolean {
  return document.querySelector(':is(main, [role=dialog]) :is([data-editor], textarea, form)') !== null
}
