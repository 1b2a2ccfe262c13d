// Settings of this browser. The server keeps none of them.

import { Button } from '../../components/controls/button.tsx'
import { Checkbox } from '../../components/controls/checkbox.tsx'
import { Choices } from '../../components/controls/select.tsx'
import { PageHead, Verdict } from '../../components/show/page.tsx'
import { say } from '../../components/toasts.tsx'
import { changeSettings, forgetSettings, settings } from '../../data/settings.ts'
import { useStore } from '../../data/store.ts'
import styles from './settings.module.css'

export function SettingsPage() {
  const { theme, zone, times, density, shortcuts, payloads, motion } = useStore(settings)
  return (
    <>
      <PageHead title="Settings">
        <Verdict>They are of this browser only, and nobody else sees them.</Verdict>
      </PageHead>
      <div className={styles.settings}>
        <Choices
          label="Theme"
          value={theme}
          choices={[
            { id: 'system', text: 'As the system has it' },
            { id: 'light', text: 'Light' },
            { id: 'dark', text: 'Dark' },
          ]}
          onChange={(to) => changeSettings({ theme: to })}
        />
        <Choices
          label="Times"
          value={times}
          choices={[
            { id: 'relative', text: 'Relative', note: '4 m ago; the whole on hover. t swaps them' },
            { id: 'absolute', text: 'Absolute', note: '06:39:22' },
          ]}
          onChange={(to) => changeSettings({ times: to })}
        />
        <Choices
          label="Time zone"
          value={zone}
          choices={[
            { id: 'local', text: `This place (${Intl.DateTimeFormat().resolvedOptions().timeZone})` },
            { id: 'utc', text: 'UTC' },
          ]}
          onChange={(to) => changeSettings({ zone: to })}
        />
        <Choices
          label="Rows"
          value={density}
          choices={[
            { id: 'normal', text: 'Normal' },
            { id: 'compact', text: 'Compact' },
          ]}
          onChange={(to) => changeSettings({ density: to })}
        />
        <Choices
          label="Values, keys and headers"
          value={payloads}
          choices={[
            { id: 'shown', text: 'Shown' },
            { id: 'hidden', text: 'Hidden until pressed', note: 'for a screen that others see' },
          ]}
          onChange={(to) => changeSettings({ payloads: to })}
        />
        <Choices
          label="Motion"
          value={motion}
          choices={[
            { id: 'system', text: 'As the system has it' },
            { id: 'none', text: 'None' },
          ]}
          onChange={(to) => changeSettings({ motion: to })}
        />
        <fieldset className={styles.keys}>
          <legend>Keyboard</legend>
          <Checkbox checked={shortcuts} onChange={(on) => changeSettings({ shortcuts: on })}>
            <span>
              Single-key shortcuts
              <small>Keys without Ctrl or ⌘, such as j, r and /. Everything is possible without them.</small>
            </span>
          </Checkbox>
        </fieldset>
      </div>
      <div>
        <Button
          onPress={() => {
            forgetSettings()
            say('The settings are as they were at first')
          }}
        >
          Back to the first settings
        </Button>
      </div>
    </>
  )
}
