import { qwen } from './drivers/qwen.ts'
import { terminalSuite } from './terminal-suite.ts'

terminalSuite(qwen, { showsAddress: true, escapes: 1 })
