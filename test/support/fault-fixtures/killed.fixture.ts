import { it } from 'vitest'
import { fault } from '../faults.ts'

fault('its worker is killed')
it('kills its worker', () => void process.kill(process.pid, 'SIGKILL'))
