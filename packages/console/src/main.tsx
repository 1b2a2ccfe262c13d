import './styles/tokens.css'
import './styles/fonts.css'
import './styles/base.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { overlay } from './app/over/overlay.ts'
import { sayFault } from './components/toasts.tsx'
import { requestLog } from './data/api.ts'
import { forgetContentWhenHidden } from './data/queries/content/forget-content.ts'
import { createQueryClient } from './data/query-client.ts'
import { showSettings } from './data/settings.ts'
import { createAppRouter } from './router.tsx'

showSettings()
const queryClient = createQueryClient({ onLeftFault: sayFault })
const router = createAppRouter(queryClient)
forgetContentWhenHidden(queryClient, document, {
  isEditing: () => /\/(edit|runs\/new)$/.test(router.state.location.pathname),
  onForget() {
    // Bodies of changes hold values, and addresses of searches keys.
    requestLog.set([])
    if (overlay.get()?.kind === 'requests') overlay.set(null)
  },
})

createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
