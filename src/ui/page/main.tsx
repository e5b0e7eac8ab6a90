import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import 'runsheet/react/styles.css'
import { App } from './app.tsx'
import './app.css'
import { applyTheme } from './settings/theme.ts'

applyTheme()

const root = document.querySelector('#app')
if (!root) throw new Error('#app is missing')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
