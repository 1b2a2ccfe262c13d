import './styles/tokens.css'
import './styles/fonts.css'
import './styles/base.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { sayFault } from './components/toasts.tsx'
import { forgetContentWhenHidden } from './data/queries/content/forget-content.ts'
import { createQueryClient } from './data/query-client.ts'
import { showSettings } from './data/settings.ts'
import { createAppRouter } from './router.tsx'

showSettings()
const queryClient = createQueryClient({ onLeftFault: sayFault })
const router = createAppRouter(queryClient)
forgetContentWhenHidden(queryClient, document, () => /\/(edit|runs\/new)$/.test(router.state.location.pathname))

createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
