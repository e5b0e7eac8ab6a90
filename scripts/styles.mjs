import { readFileSync, writeFileSync } from 'node:fs'

// tsc does not copy stylesheets. The page loads the second one later; the package has one file.
const sheets = ['styles.css', 'thread.css'].map(name => readFileSync(`src/react/${name}`, 'utf8'))
writeFileSync('dist/react/styles.css', sheets.join('\n'))
