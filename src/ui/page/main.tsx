import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { applyTheme } from './storage.ts'
import 'runsheet/react/styles.css'
import './app.css'

applyTheme()

const root = document.querySelector('#app')
if (!root) throw new Error('#app is missing')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
