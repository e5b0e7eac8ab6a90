import { opencode } from './drivers/opencode.ts'
import { terminalSuite } from './terminal-suite.ts'

terminalSuite(opencode, { showsAddress: false, escapes: 2 })
