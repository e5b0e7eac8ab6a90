import { claudeCode } from './drivers/claude-code.ts'
import { hostSuite } from './suite.ts'

hostSuite(claudeCode)
