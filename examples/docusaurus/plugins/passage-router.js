// Goes to a passage through Docusaurus's router, which does not see a click in the widget. Other addresses are the browser's.
import routes from '@generated/routes';
import { matchRoutes } from 'react-router-config';

const isPage = ({ origin, pathname }) => origin === location.origin && matchRoutes(routes, pathname).at(-1)?.route.exact;

// Docusaurus runs this while it builds, too.
if (typeof document !== 'undefined') {
  document.addEventListener('passage-navigate', (event) => {
    const url = new URL(event.detail.url);
    if (event.defaultPrevented || !isPage(url)) return;
    event.preventDefault();
    history.pushState(null, '', url);
    // The router follows the history.
    dispatchEvent(new PopStateEvent('popstate', { state: null }));
  });
}
