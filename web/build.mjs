/** Bundles web/src into classic scripts: passage-chat.js and languages/*.js, in web or the folder named as the first argument. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, transform } from 'esbuild';

const here = (/** @type {string} */ name) => new URL(name, import.meta.url);
const { version } = JSON.parse(readFileSync(here('package.json'), 'utf8'));

const languages = readdirSync(here('src/languages')).filter((name) => /^\w\w\.js$/.test(name));

await build({
  entryPoints: {
    'passage-chat': here('src/main.js').pathname,
    ...Object.fromEntries(languages.map((name) => [join('languages', name.slice(0, 2)), here(`src/languages/${name}`).pathname])),
  },
  outdir: process.argv[2] ?? here('.').pathname,
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  charset: 'utf8',
  define: { VERSION: JSON.stringify(version) },
  banner: { js: `/*! Passage widget ${version} | Apache-2.0 */` },
  plugins: [
    {
      name: 'css-as-text',
      setup(build) {
        build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
          const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'css', minify: true });
          return { contents: code, loader: 'text' };
        });
      },
    },
  ],
});
