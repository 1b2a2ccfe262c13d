// Whatever somebody has asked for over the page.

import { PauseDialog, ResumeDialog } from '../../pages/topics/pause-dialog.tsx'
import { Commands } from './commands.tsx'
import { KeyHelp } from './key-help.tsx'
import type { Overlay } from './overlay.ts'
import { RequestDrawer } from './request-drawer.tsx'

export function Overlays({ shown, onClose: close }: { shown: Overlay; onClose: () => void }) {
  switch (shown.kind) {
    case 'commands':
      return <Commands onClose={close} />
    case 'keys':
      return <KeyHelp onClose={close} />
    case 'requests':
      return <RequestDrawer onClose={close} />
    case 'pause':
      return <PauseDialog topic={shown.topic} what="retries" duration={shown.duration} onClose={close} />
    case 'resume':
      return <ResumeDialog topic={shown.topic} what="retries" onClose={close} />
  }
}
