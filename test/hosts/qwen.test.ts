import { qwen } from './drivers/qwen.ts'
import { hostSuite } from './suite.ts'

hostSuite(qwen)
