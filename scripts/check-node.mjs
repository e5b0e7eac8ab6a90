// Must run on any Node version, to tell users of an old one what to do.
const REQUIRED = [24, 15]

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < REQUIRED[0] || (major === REQUIRED[0] && minor < REQUIRED[1])) {
  const { isRepaired } = await import('./clone-node/link.mjs')
  console.error(
    isRepaired ? 'npm had not linked the Node that it installed. It is linked now: run the command again.' : help(),
  )
  process.exit(1)
}

function help() {
  return (
    `Runsheet needs Node ${REQUIRED.join('.')} or newer; this is ${process.version} on ${process.platform} ${process.arch}.\n` +
    'On Linux x64 and arm64, `npm ci` installs it (without --omit=optional), and npm scripts such as `npm start` use it.\n' +
    `Other platforms need Node ${REQUIRED.join('.')} or newer from nodejs.org or a version manager.`
  )
}
