import { it } from 'vitest'
import { fault } from '../faults.ts'

fault('a fault in two files')
it('passes', () => {})
