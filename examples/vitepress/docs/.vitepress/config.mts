// Copy web/passage-chat.js into docs/public/.
import { defineConfig } from 'vitepress';

const passage = {
  src: '/passage-chat.js',
  'data-endpoint': 'https://passage.example',
  'data-shortcut': 'mod+j', // Ctrl K is the site's own search's
  defer: '',
};

export default defineConfig({
  title: 'Kettle',
  themeConfig: { search: { provider: 'local' } },
  head: [['script', passage]],
});
