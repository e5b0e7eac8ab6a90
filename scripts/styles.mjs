import { readFileSync, writeFileSync } from 'node:fs'

// tsc does not copy stylesheets. The page loads the second one later; the package ships one file.
const sheets = ['styles.css', 'thread/thread.css'].map(name => readFileSync(`src/ui/panels/${name}`, 'utf8'))
writeFileSync('dist/ui/panels/styles.css', followingCanvas(sheets.join('\n')))

/**
 * Replaces `light-dark()`: Lightning CSS, in the default builds of Vite and Next, rewrites it to variables that are set
 * only where the same build sees a `color-scheme`. `Canvas` follows the element's scheme by itself.
 */
function followingCanvas(css) {
  return css.replaceAll(/light-dark\(#(\w{6}), #(\w{6})\)/g, (_, light, dark) => {
    const channels = ['r', 'g', 'b'].map((channel, place) => {
      const [from, to] = [dark, light].map(hex => Number.parseInt(hex.slice(2 * place, 2 * place + 2), 16))
      return `calc(${from} + ${to - from} * clamp(0, ${channel} - 127, 1))`
    })
    return `rgb(from Canvas ${channels.join(' ')})`
  })
}
