import { gemini } from './drivers/gemini.ts'
import { hostSuite } from './suite.ts'

hostSuite(gemini)
