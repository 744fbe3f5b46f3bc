"""What youtube makes of a video URL, of a list of caption tracks and of a caption document, each by itself."""
