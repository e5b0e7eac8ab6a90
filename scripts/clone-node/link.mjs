import { existsSync, symlinkSync } from 'node:fs'

// npm 10 links the Node that it installs, and then removes the link together with the package for the other CPU, which
// has a link of the same name. This runs after `npm ci` and puts it back.

const INSTALLED = `../node-linux-${process.arch}/bin/node`
const LINK = new URL('../../node_modules/.bin/node', import.meta.url)

/** Whether the link was missing and is there now. */
export const isRepaired = process.platform === 'linux' && existsSync(new URL(INSTALLED, LINK.href)) && !existsSync(LINK)
if (isRepaired) symlinkSync(INSTALLED, LINK)
