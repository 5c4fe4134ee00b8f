"""`passage doctor`: checks a deployment, or this machine's settings, and says what to do about each finding."""
