"""What ssl-info judges: a certificate, whom it is for, and whether it is trusted. Bytes in, statements out."""
