import { copyFileSync } from 'node:fs'

// tsc does not copy stylesheets.
copyFileSync('src/react/styles.css', 'dist/react/styles.css')
