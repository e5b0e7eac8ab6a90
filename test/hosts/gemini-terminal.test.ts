import { gemini } from './drivers/gemini.ts'
import { terminalSuite } from './terminal-suite.ts'

terminalSuite(gemini, { showsAddress: true, escapes: 1 })
