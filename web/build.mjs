/** Bundles web/src into classic scripts: passage-chat.js and languages/*.js, in web or the folder named as the first argument. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build, transform } from 'esbuild';
import { minify } from 'terser';

const here = (/** @type {string} */ name) => new URL(name, import.meta.url);
const { version } = JSON.parse(readFileSync(here('package.json'), 'utf8'));

const languages = readdirSync(here('src/languages')).filter((name) => /^\w\w\.js$/.test(name));

const { outputFiles } = await build({
  entryPoints: {
    'passage-chat': here('src/main.js').pathname,
    ...Object.fromEntries(languages.map((name) => [join('languages', name.slice(0, 2)), here(`src/languages/${name}`).pathname])),
  },
  outdir: process.argv[2] ?? here('.').pathname,
  bundle: true,
  minify: true,
  write: false,
  format: 'iife',
  target: 'es2022',
  charset: 'utf8',
  define: { VERSION: JSON.stringify(version) },
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

// terser's output compresses to 3 % less than esbuild's.
for (const { path, text } of outputFiles) {
  const { code } = await minify(text, {
    ecma: 2020,
    compress: { passes: 3, unsafe_arrows: true, unsafe_methods: true, keep_fargs: false, pure_getters: true },
    format: { preamble: `/*! Passage widget ${version} | Apache-2.0 */` },
  });
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${code}\n`);
}
