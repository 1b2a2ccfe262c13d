// The commands: what is typed is done, gone to or searched for. ⌘K opens them on every page.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import {
  Dialog as AriaDialog,
  Autocomplete,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
} from 'react-aria-components'
import { DirectedText } from '../../components/show/directed-text.tsx'
import { say } from '../../components/toasts.tsx'
import { faultOf } from '../../data/faults.ts'
import { findAnything } from '../../data/find-anything.ts'
import { livePaused, setLivePaused, useSlow } from '../../data/live.ts'
import { groupPageQuery } from '../../data/queries/groups.ts'
import { topicNamesQuery } from '../../data/queries/topics.ts'
import { changeSettings, settings } from '../../data/settings.ts'
import { useStore } from '../../data/store.ts'
import { parseSearch } from '../../domain/addresses.ts'
import { type Fixed, paletteSections } from '../../domain/commands/palette-items.ts'
import { parseCommand } from '../../domain/commands/parse-command.ts'
import { openOf } from '../../domain/states.ts'
import { sections } from '../sections.ts'
import styles from './commands.module.css'
import { type Overlay, overlay, recentPages } from './overlay.ts'

/** Below this, a search in names would find everything. */
const minChars = 2

export function Commands({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [said, setSaid] = useState<string | null>(null)
  const recent = useStore(recentPages)
  const command = parseCommand(text)
  const name = (command?.name ?? text).trim()
  const asked = name.length >= minChars
  const topics = useQuery({ ...topicNamesQuery(name), enabled: asked, placeholderData: keepPreviousData })
  const groups = useQuery({ ...groupPageQuery({ q: name, limit: '6' }), enabled: asked && command === null })
  const slow = useSlow(asked && topics.isFetching)
  const shown = paletteSections({
    ...{ text, command, fixed: fixedCommands(), recent },
    topics: asked && topics.data !== undefined && !topics.isPlaceholderData ? topics.data : null,
    groups: (asked ? (groups.data?.groups ?? []) : []).map(({ id, title, counts }) => ({
      id,
      title,
      open: openOf(counts),
    })),
  })

  const input = useRef<HTMLInputElement>(null)
  useEffect(() => dropGoneChoice(input.current))
  useEscape(onClose)
  /** What is looked for; nobody waits for it any more once something else is typed, or the commands are closed. */
  const sought = useRef<string | null>(null)
  useEffect(
    () => () => {
      sought.current = null
    },
    [],
  )

  const search = async () => {
    setSaid('Looking …')
    sought.current = text
    const found = await findAnything(text.trim()).catch(
      (error: unknown) => ({ to: null, said: `It is not known: ${faultOf(error).message}.` }) as const,
    )
    if (sought.current !== text) return
    if (found.to === null) return setSaid(found.said)
    onClose()
    if (found.to === 'messages') await navigate({ to: '/messages', search: found.search })
    else if (found.to === 'message') await navigate({ to: '/messages/$id', params: { id: found.id }, search: {} })
    else if (found.to === 'group') await navigate({ to: '/groups/$id', params: { id: found.id } })
    else await navigate({ to: '/runs/$id', params: { id: found.id }, search: {} })
  }

  const act = (id: string) => {
    if (id === 'search') return void search()
    const [verb = '', ...rest] = id.split(' ')
    const thing = rest.join(' ')
    onClose()
    switch (verb) {
      case 'go':
      case 'recent':
        return void navigate(placeOf(thing) as never)
      case 'topic':
        return void navigate({ to: '/topics/$topic', params: { topic: thing }, search: {} })
      case 'group':
        return void navigate({ to: '/groups/$id', params: { id: thing } })
      case 'retry':
        return void navigate({ to: '/runs/new', search: { kind: 'retry', topic: thing } })
      case 'resume':
        return lieOver({ kind: 'resume', topic: thing })
      case 'pause': {
        const [duration = '', ...name] = rest
        return lieOver({ kind: 'pause', topic: name.join(' '), duration: duration === '' ? null : duration })
      }
      case 'keys':
      case 'requests':
        return lieOver({ kind: verb })
      default:
        return change(verb, thing)
    }
  }

  return (
    <ModalOverlay
      isOpen
      isDismissable
      onOpenChange={(open) => {
        if (!open) onClose()
      }}
      className={styles.overlay!}
    >
      <Modal className={styles.modal!}>
        <AriaDialog aria-label="Commands" className={styles.dialog!}>
          <Autocomplete
            inputValue={text}
            onInputChange={(value) => {
              setText(value)
              setSaid(null)
              sought.current = null
            }}
          >
            <SearchField
              aria-label="Command, page or anything to search for"
              autoFocus
              className={styles.field!}
              // Where the list has changed under the fingers nothing may be chosen: then the first is meant.
              onSubmit={() => {
                const first = shown[0]?.items[0]
                if (first !== undefined && document.querySelector('[role=menuitem][data-focused]') === null)
                  act(first.id)
              }}
            >
              <Input
                ref={input}
                placeholder="pause orders 2h, a page, or anything to search for"
                className={styles.input!}
              />
            </SearchField>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
            <section className={styles.scroll} tabIndex={0} aria-label="What fits">
              <Menu aria-label="Commands" className={styles.menu!} onAction={(key) => act(String(key))}>
                {shown.map(({ title, items }) => (
                  <MenuSection key={title} id={title} className={styles.section!}>
                    <Header className={styles.header!}>{title}</Header>
                    {items.map(({ id, text, note }) => (
                      <MenuItem key={id} id={id} textValue={text} className={styles.item!}>
                        <span>
                          <DirectedText text={text} />
                        </span>
                        {note === undefined ? null : <span className={styles.note}>{note}</span>}
                      </MenuItem>
                    ))}
                  </MenuSection>
                ))}
              </Menu>
            </section>
          </Autocomplete>
          <p role="status" className={styles.foot}>
            {said ?? (slow ? 'Looking for topics …' : '↑ ↓ choose · ↵ do it · Esc close')}
          </p>
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}

/** The field itself would first empty itself, and what is typed next would still go into it. */
function useEscape(onClose: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing) return
      event.stopPropagation()
      onClose()
    }
    window.addEventListener('keydown', onKeyDown, true)
    return () => window.removeEventListener('keydown', onKeyDown, true)
  }, [onClose])
}

/** Where the list has changed under the fingers, what was chosen may be gone; a screen reader would still be sent to it. */
function dropGoneChoice(input: HTMLInputElement | null): () => void {
  const frame = requestAnimationFrame(() => {
    const chosen = input?.getAttribute('aria-activedescendant')
    if (chosen && document.getElementById(chosen) === null) input!.removeAttribute('aria-activedescendant')
  })
  return () => cancelAnimationFrame(frame)
}

/** The focus goes back to the page before the next one takes it: that one gives it back to there, too. */
function lieOver(next: Overlay): void {
  requestAnimationFrame(() => setTimeout(() => overlay.set(next)))
}

/** An address of the console as the router takes it. */
function placeOf(href: string) {
  const { pathname, search, hash } = new URL(href, 'http://console')
  return { to: decodeURI(pathname), search: parseSearch(search), hash: hash.slice(1) }
}

function fixedCommands(): Fixed[] {
  const { theme, times, zone, density } = settings.get()
  return [
    ...sections.map(({ to, name, key }) => ({ id: `go ${to}`, text: name, note: `g ${key}`, words: 'go page' })),
    { id: 'go /settings', text: 'Settings', words: 'go page theme times density shortcuts' },
    { id: 'keys', text: 'Keys of this page', note: '?', words: 'keyboard shortcuts help' },
    { id: 'requests', text: 'Requests of this page', note: 'Shift a', words: 'api curl show' },
    {
      id: 'live',
      text: livePaused.get() ? 'Go on with live updates' : 'Pause live updates',
      note: 'p',
      words: 'stop resume polling',
    },
    { id: 'times', text: times === 'relative' ? 'Absolute times' : 'Relative times', note: 't', words: 'clock' },
    { id: 'zone', text: zone === 'utc' ? 'Times of this place' : 'Times in UTC', words: 'zone local clock' },
    ...(['light', 'dark', 'system'] as const)
      .filter((one) => one !== theme)
      .map((one) => ({
        id: `theme ${one}`,
        text: one === 'system' ? 'Theme of the system' : `${one === 'dark' ? 'Dark' : 'Light'} theme`,
        words: 'colours',
      })),
    { id: 'density', text: density === 'normal' ? 'Compact rows' : 'Normal rows', words: 'density' },
  ]
}

function change(what: string, to: string): void {
  const { times, zone, density } = settings.get()
  if (what === 'live') {
    setLivePaused(!livePaused.get())
    say(livePaused.get() ? 'Live updates are paused' : 'Live updates go on')
  }
  if (what === 'times') changeSettings({ times: times === 'relative' ? 'absolute' : 'relative' })
  if (what === 'zone') changeSettings({ zone: zone === 'utc' ? 'local' : 'utc' })
  if (what === 'density') changeSettings({ density: density === 'normal' ? 'compact' : 'normal' })
  if (what === 'theme') changeSettings({ theme: to as 'system' | 'light' | 'dark' })
}
