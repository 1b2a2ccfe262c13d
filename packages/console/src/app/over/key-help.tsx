// The keys of this page, and those of every page.

import { useRouterState } from '@tanstack/react-router'
import { Dialog } from '../../components/controls/dialog.tsx'
import { boundKeys } from '../../components/keys.ts'
import { settings } from '../../data/settings.ts'
import { useStore } from '../../data/store.ts'
import { keyCaps, keyTables } from '../../domain/commands/key-words.ts'
import { sections } from '../sections.ts'
import styles from './over.module.css'

export function KeyHelp({ onClose }: { onClose: () => void }) {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const { shortcuts } = useStore(settings)
  const mac = /Mac|iP(hone|ad)/.test(navigator.userAgent)
  return (
    <Dialog title="Keys" onClose={onClose} side>
      {shortcuts ? null : <p>Keys without Ctrl or ⌘ are switched off in the settings.</p>}
      {keyTables(path, boundKeys(), sections).map(({ title, keys }) => (
        <section key={title} aria-label={title} className={styles.keys}>
          <h3>{title}</h3>
          <dl>
            {keys.map(({ key, words }) => (
              <div key={key}>
                <dt>
                  {keyCaps(key, mac).map((cap) => (
                    <kbd key={cap}>{cap}</kbd>
                  ))}
                </dt>
                <dd>{words}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  )
}
