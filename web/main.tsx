import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import '../src/react/styles.css'
import { App } from './app.tsx'
import './app.css'

const theme = localStorage.getItem('runsheet.theme')
if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme

const root = document.querySelector('#app')
if (!root) throw new Error('there is no #app')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
