// The sections of the console. A page that is not whole is not linked: it is missing here, and nowhere else.

import {
  Activity,
  Bell,
  Flame,
  Layers,
  ListTree,
  type LucideIcon,
  Mail,
  Play,
  ScrollText,
  SlidersHorizontal,
} from 'lucide-react'

type Section = {
  to: '/' | '/groups' | '/messages' | '/runs' | '/topics' | '/policies' | '/audit' | '/events' | '/system'
  name: string
  key: string
  icon: LucideIcon
}

export const sections: readonly Section[] = [
  { to: '/', name: 'Now', key: 'n', icon: Flame },
  { to: '/groups', name: 'Groups', key: 'g', icon: ListTree },
  { to: '/messages', name: 'Messages', key: 'm', icon: Mail },
  { to: '/runs', name: 'Runs', key: 'r', icon: Play },
  { to: '/topics', name: 'Topics', key: 't', icon: Layers },
  { to: '/policies', name: 'Policies', key: 'p', icon: SlidersHorizontal },
  { to: '/audit', name: 'Audit', key: 'a', icon: ScrollText },
  { to: '/events', name: 'Events', key: 'e', icon: Bell },
  { to: '/system', name: 'System', key: 's', icon: Activity },
]

/** A phone has room for these at its lower edge; the others are behind "More". */
export const firstSections = 4
