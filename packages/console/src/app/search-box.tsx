// The search on top. What it looks for is said under it, so that "not found" means something.

import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useRef, useState } from 'react'
import { Input, SearchField } from 'react-aria-components'
import { faultOf } from '../data/faults.ts'
import { findAnything } from '../data/find-anything.ts'
import styles from './search-box.module.css'

export function SearchBox() {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [answer, setAnswer] = useState<string | null>(null)
  /** What is looked for; nobody waits for it any more once something else is typed. */
  const sought = useRef<string | null>(null)

  const search = async () => {
    if (text.trim() === '') return
    setAnswer('Looking …')
    sought.current = text
    try {
      const found = await findAnything(text.trim())
      if (sought.current !== text) return
      setAnswer(found.to === null ? found.said : null)
      if (found.to === null) return
      setText('')
      if (found.to === 'messages') await navigate({ to: '/messages', search: found.search })
      else if (found.to === 'message') await navigate({ to: '/messages/$id', params: { id: found.id } })
      else if (found.to === 'group') await navigate({ to: '/groups/$id', params: { id: found.id } })
      else await navigate({ to: '/runs/$id', params: { id: found.id } })
    } catch (error) {
      if (sought.current === text) setAnswer(`It is not known: ${faultOf(error).message}.`)
    }
  }

  return (
    <div className={styles.box} data-search>
      <SearchField
        aria-label="Search"
        value={text}
        onChange={(value) => {
          setText(value)
          setAnswer(null)
          sought.current = null
        }}
        onSubmit={() => void search()}
        // What is typed next is for the page.
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || event.nativeEvent.isComposing) return
          setAnswer(null)
          if (event.target instanceof HTMLElement) event.target.blur()
        }}
        className={styles.field!}
      >
        <Search aria-hidden="true" />
        <Input placeholder="Search or paste anything" className={styles.input!} />
        <span className={styles.key} aria-hidden="true">
          /
        </span>
      </SearchField>
      <div role="status">{answer === null ? null : <p className={styles.answer}>{answer}</p>}</div>
    </div>
  )
}
