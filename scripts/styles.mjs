import { copyFileSync } from 'node:fs'

// The compiler leaves styles where they are.
copyFileSync('src/react/styles.css', 'dist/react/styles.css')
