import { codex } from './drivers/codex.ts'
import { hostSuite } from './suite.ts'

hostSuite(codex)
