// Links to other tools, where `console.links` has templates for them.

import type { ReactNode } from 'react'
import { toolTemplates } from '../data/session.ts'
import { useStore } from '../data/store.ts'
import { addressIn, placeOfFrame, ticketParts } from '../domain/system/tool-links.ts'
import { DirectedText } from './show/directed-text.tsx'

/** Just what it holds where there is no address. */
export function ToolLink({ href, children }: { href: string | null; children: ReactNode }) {
  if (href === null) return children
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

/** A text that people wrote; the tickets that it names are links. */
export function TicketText({ text }: { text: string }) {
  const { ticket } = useStore(toolTemplates)
  if (ticket == null) return <DirectedText text={text} />
  return ticketParts(text).map(({ text, isTicket }, at) => (
    <ToolLink key={`${at} ${text}`} href={isTicket ? addressIn(ticket, { ticket: text }) : null}>
      <DirectedText text={text} />
    </ToolLink>
  ))
}

/** A frame of a stack trace; a link where it names a line. */
export function FrameLink({ frame, children }: { frame: string; children: ReactNode }) {
  const { source } = useStore(toolTemplates)
  const place = source == null ? null : placeOfFrame(frame)
  return <ToolLink href={place === null ? null : addressIn(source, place)}>{children}</ToolLink>
}
