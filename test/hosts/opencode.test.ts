import { opencode } from './drivers/opencode.ts'
import { hostSuite } from './suite.ts'

hostSuite(opencode)
