// The sections of the console. A page that is not whole is not linked: it is missing here, and nowhere else.

import { Flame, ListTree, type LucideIcon, Mail, Play } from 'lucide-react'

type Section = { to: '/' | '/groups' | '/messages' | '/runs'; name: string; key: string; icon: LucideIcon }

export const sections: readonly Section[] = [
  { to: '/', name: 'Now', key: 'n', icon: Flame },
  { to: '/groups', name: 'Groups', key: 'g', icon: ListTree },
  { to: '/messages', name: 'Messages', key: 'm', icon: Mail },
  { to: '/runs', name: 'Runs', key: 'r', icon: Play },
]
