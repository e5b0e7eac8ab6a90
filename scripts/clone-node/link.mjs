import { existsSync, symlinkSync } from 'node:fs'

// npm 10 links the Node it installs, then removes the link together with the other CPU's package, whose link has the
// same name. This runs after `npm ci` and restores it.

const INSTALLED = `../node-linux-${process.arch}/bin/node`
const LINK = new URL('../../node_modules/.bin/node', import.meta.url)

export const isRepaired = process.platform === 'linux' && existsSync(new URL(INSTALLED, LINK.href)) && !existsSync(LINK)
if (isRepaired) symlinkSync(INSTALLED, LINK)
