import { badInput } from '../support/bad-input.ts'

badInput('sqlite')
